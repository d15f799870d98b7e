-- compatible: former nodes read the column as before.

-- An invitation to a project vouched for an account that was there, too. Of accounts that reach every project it is not known any
-- more who vouched for them: the operator does so anew (`svc people invite --owner --email`), unless they signed in elsewhere before.
UPDATE person SET invited = false
  WHERE operator AND invited AND NOT EXISTS (SELECT FROM person_identity i WHERE i.person_id = person.id);
