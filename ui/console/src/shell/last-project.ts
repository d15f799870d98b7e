const key = 'svc-project';

export const lastProject = (): string | null => localStorage.getItem(key);
export const rememberProject = (name: string): void => localStorage.setItem(key, name);
