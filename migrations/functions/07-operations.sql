SELECT svc_ballast('idempotency', '{"principal": "''ballast''"}');
