-- The rows of a fleet in PostgreSQL, read from the files that `launchguard collect --to rows`
-- writes. They take the place of those from before, all at once.
BEGIN;
CREATE TABLE IF NOT EXISTS run (uuid text, device_id bigint, app text, version text, started timestamptz, ending text, system text, kernel text,
    hardware text, model text, is_short_of_memory int, bug text);
CREATE TABLE IF NOT EXISTS bug (key text PRIMARY KEY, app text, ending text, kind text, headline text, place text);
CREATE TABLE IF NOT EXISTS annotation (run_uuid text, name text, value text);
TRUNCATE run, bug, annotation;
DROP INDEX IF EXISTS run_of_bug, run_of_version;
CREATE TEMP TABLE run_line (line json) ON COMMIT DROP;
CREATE TEMP TABLE bug_line (line json) ON COMMIT DROP;
CREATE TEMP TABLE annotation_line (line json) ON COMMIT DROP;
\copy run_line FROM 'rows/run.jsonl' WITH (FORMAT csv, QUOTE e'\x01', DELIMITER e'\x02')
\copy bug_line FROM 'rows/bug.jsonl' WITH (FORMAT csv, QUOTE e'\x01', DELIMITER e'\x02')
\copy annotation_line FROM 'rows/annotation.jsonl' WITH (FORMAT csv, QUOTE e'\x01', DELIMITER e'\x02')
INSERT INTO run SELECT r.* FROM run_line, json_populate_record(NULL::run, line) r;
INSERT INTO bug SELECT b.* FROM bug_line, json_populate_record(NULL::bug, line) b;
INSERT INTO annotation SELECT a.* FROM annotation_line, json_populate_record(NULL::annotation, line) a;
CREATE INDEX run_of_bug ON run (bug, device_id);
CREATE INDEX run_of_version ON run (app, version, ending, bug);
-- Wilson's bound of a share: the lower one with a negative z.
CREATE OR REPLACE FUNCTION bound(k bigint, n bigint, z float) RETURNS float IMMUTABLE LANGUAGE sql
    RETURN (k + z * z / 2 + z * sqrt(k * (n - k)::float / nullif(n, 0) + z * z / 4)) / (n + z * z);
COMMIT;
VACUUM ANALYZE run, bug, annotation;
