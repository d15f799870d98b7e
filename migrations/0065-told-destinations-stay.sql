-- compatible: changes no table. An older node that starts after it leaves the function of this release there.

-- What tells of an event holds the destinations that it goes to until its commit: `svc_tell` in functions/08-deliveries.sql.
