-- compatible: adds a column.

-- Whether somebody invited this address: who signs in elsewhere and proves it is then taken for this person. The first owner types
-- an address that nobody vouches for; everybody else came by an invitation.
ALTER TABLE person ADD COLUMN invited boolean NOT NULL DEFAULT false;
UPDATE person SET invited = true WHERE NOT operator;
