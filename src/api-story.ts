/** Who and when in the examples of the API document: together they tell one story. */

export const at = '2026-01-15T09:30:00.000Z';
export const projectId = '0192f0c1-0001-7000-8000-000000000001';
export const integrationId = '0192f0c1-0002-7000-8000-000000000002';
export const connectionId = '0192f0c1-0003-7000-8000-000000000003';
export const installationId = '0192f0c1-0004-7000-8000-000000000004';
export const operationId = '0192f0c1-0005-7000-8000-000000000005';
export const requestId = '0192f0c1-0006-7000-8000-000000000006';
export const revisionId = '0192f0c1-0007-7000-8000-000000000007';
export const configId = '0192f0c1-0008-7000-8000-000000000008';
export const keyId = 'k7Qd2mXw';
export const made = { createTime: at, updateTime: at };
