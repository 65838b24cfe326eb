-- Which bugs has the version :new more often than :old, and how many times, with an interval of 99 %?
WITH version AS (SELECT app, count(*) FILTER (WHERE version = :'old') AS old, count(*) FILTER (WHERE version = :'new') AS new
    FROM run WHERE version IN (:'old', :'new') GROUP BY app),
both_of AS (SELECT app, bug, count(*) FILTER (WHERE version = :'old') AS old, count(*) FILTER (WHERE version = :'new') AS new
    FROM run WHERE version IN (:'old', :'new') AND bug IS NOT NULL GROUP BY app, bug),
share AS (SELECT o.*, v.old AS old_of, v.new AS new_of, bound(o.new, o.old + o.new, -2.576) AS low, bound(o.new, o.old + o.new, 2.576) AS high
    FROM both_of o JOIN version v ON v.app = o.app WHERE v.old > 0 AND v.new > 0)
SELECT bug, old, old_of, new, new_of, CAST(low / (1 - low) * old_of / new_of AS numeric(9, 1)) AS at_least,
    CASE WHEN old > 0 THEN CAST(high / (1 - high) * old_of / new_of AS numeric(9, 1)) END AS at_most
FROM share ORDER BY at_least DESC, new DESC, bug;
