/** How a read is: the first that is true. */
export const readStatuses = ['removed', 'paused', 'disabled', 'failing', 'running', 'idle'] as const;
