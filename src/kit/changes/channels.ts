/** Of batches of changes. */
export const changesChannel = 'svc_changes';
/** Of who looks at what. */
export const watchChannel = 'svc_watch';
