/** Takes a megabyte of the database's disk, in a transaction and until its end. Needs the right to make temporary tables. */
export const takeRoom = `CREATE TEMPORARY TABLE svc_room ON COMMIT DROP AS
  SELECT repeat('x', 1000) FROM generate_series(1, 1000)`;
