-- Which share of the runs of each version had no crash, with its interval of 95 %?
WITH version AS (SELECT app, version, count(*) AS runs, count(*) FILTER (WHERE ending <> 'crash') AS good FROM run GROUP BY app, version)
SELECT app, version, runs, CAST(100.0 * good / runs AS numeric(4, 1)) AS percent, CAST(100 * bound(good, runs, -1.96) AS numeric(4, 1)) AS low,
    CAST(100 * bound(good, runs, 1.96) AS numeric(4, 1)) AS high
FROM version ORDER BY app, version;
