-- compatible: adds an index.

-- Those that are being refreshed, among which an import looks for its refresh token.
CREATE INDEX connection_refreshing ON connection (provider) WHERE refresh_lease IS NOT NULL;
