-- compatible: adds indexes of a small table.

-- By what installations are listed: those of a group, which each page of a customer asks for, and those of an integration. The project is
-- not their first column: while the table is empty, such an index would be taken for the look-up by integration and group.
CREATE INDEX installation_of_group ON installation (group_ref, project_id);
CREATE INDEX installation_of_integration ON installation (integration_id, id);
