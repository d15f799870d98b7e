import type { ReactNode } from 'react';
import { Badge } from '../../ui/badge.tsx';

/** Whether a key lets anybody in. */
export function KeyState({ active, expiresAt }: { active: boolean; expiresAt?: string }): ReactNode {
  if (!active) return <Badge>Off</Badge>;
  if (expiresAt !== undefined && new Date(expiresAt) < new Date()) return <Badge tone="bad">Expired</Badge>;
  return <Badge tone="good">Active</Badge>;
}
