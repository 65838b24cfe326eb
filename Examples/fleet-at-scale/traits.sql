-- What have nine of ten runs of the bug :bug in common, and the other runs of its application do not?
WITH own AS (SELECT *, coalesce(bug = :'bug', false) AS has FROM run WHERE app = (SELECT app FROM bug WHERE key = :'bug')),
trait AS (SELECT has, 'system' AS name, system AS value FROM own UNION ALL SELECT has, 'kernel', kernel FROM own
    UNION ALL SELECT has, 'hardware', hardware FROM own UNION ALL SELECT has, 'model', model FROM own
    UNION ALL SELECT has, 'memory', CASE is_short_of_memory WHEN 1 THEN 'near its limit' ELSE 'enough' END FROM own
    UNION ALL SELECT has, a.name, a.value FROM own JOIN annotation a ON a.run_uuid = uuid),
counted AS (SELECT name, value, count(*) FILTER (WHERE has) AS runs, count(*) FILTER (WHERE NOT has) AS others
    FROM trait WHERE value IS NOT NULL GROUP BY name, value),
summed AS (SELECT *, CAST(sum(runs) OVER (PARTITION BY name) AS bigint) AS of_runs, CAST(sum(others) OVER (PARTITION BY name) AS bigint) AS of_others
    FROM counted)
SELECT name, value, runs, of_runs, others, of_others FROM summed
WHERE runs >= 0.9 * of_runs AND value <> 'enough' AND bound(runs, of_runs, -2.576) > bound(others, of_others, 2.576)
ORDER BY name;
