-- What do most devices suffer from?
WITH pair AS (SELECT bug, device_id, count(*) AS runs FROM run WHERE bug IS NOT NULL GROUP BY bug, device_id)
SELECT p.bug, b.app, count(device_id) AS devices, CAST(sum(runs) AS bigint) AS runs, b.headline
FROM pair p JOIN bug b ON b.key = p.bug GROUP BY p.bug, b.app, b.headline ORDER BY devices DESC, runs DESC LIMIT 10;
