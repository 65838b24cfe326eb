-- The rows of `launchguard collect --to rows` in DuckDB, which reads their lines as they are, and as
-- Parquet. The queries are the same, with values in place of :'old', :'new' and :'bug'.
CREATE TABLE run AS FROM 'rows/run.jsonl';
CREATE TABLE bug AS FROM 'rows/bug.jsonl';
CREATE TABLE annotation AS FROM 'rows/annotation.jsonl';
CREATE MACRO bound(k, n, z) AS (k + z * z / 2 + z * sqrt(k * (n - k)::DOUBLE / nullif(n, 0) + z * z / 4)) / (n + z * z);
COPY run TO 'rows/run.parquet';
