-- Requests that a collector's exporter `file` wrote, as rows of the tables of postgresql.sql. Runs
-- that did not die are not there.
CREATE TEMP TABLE request (line json);
\copy request FROM 'crashes.json' WITH (FORMAT csv, QUOTE e'\x01', DELIMITER e'\x02')
CREATE FUNCTION attributes(list json) RETURNS jsonb IMMUTABLE LANGUAGE sql
    RETURN (SELECT jsonb_object_agg(a ->> 'key', coalesce(a #>> '{value,stringValue}', a #>> '{value,intValue}')) FROM json_array_elements(list) a);
CREATE TEMP TABLE crash AS SELECT attributes(l #> '{resource,attributes}') AS sender, attributes(r -> 'attributes') AS own, r AS record,
        coalesce(attributes(r -> 'attributes') ->> 'launchguard.bug', attributes(r -> 'attributes') ->> 'launchguard.fingerprint') AS key
    FROM request, json_array_elements(line -> 'resourceLogs') l, json_array_elements(l -> 'scopeLogs') s, json_array_elements(s -> 'logRecords') r
    WHERE r ->> 'eventName' = 'app.crash';
INSERT INTO run SELECT own ->> 'launchguard.run', hashtextextended(sender ->> 'host.id', 0), sender ->> 'service.name', sender ->> 'service.version',
        to_timestamp((record ->> 'timeUnixNano')::numeric / 1e9), own ->> 'launchguard.end', sender ->> 'os.name', sender ->> 'os.build_id',
        sender ->> 'host.arch', NULL, NULL, key
    FROM crash, generate_series(0, coalesce((own ->> 'launchguard.more')::int, 0));
INSERT INTO bug SELECT DISTINCT ON (key) key, sender ->> 'service.name', own ->> 'launchguard.end', own ->> 'launchguard.kind',
        record #>> '{body,stringValue}' FROM crash ORDER BY key;
