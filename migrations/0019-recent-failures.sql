-- compatible: adds columns that have a default.

-- Operations and failures among them, each worth a tenth less with every one that ends after it: what a share is taken of.
ALTER TABLE installations
  ADD COLUMN recent_operations real NOT NULL DEFAULT 0,
  ADD COLUMN recent_failures real NOT NULL DEFAULT 0;
