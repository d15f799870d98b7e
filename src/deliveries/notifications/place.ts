import { Type } from 'typebox';
import type { Database } from '../../kit/db/database.ts';
import type { Principal, Projects } from '../../projects/index.ts';
import type { NotificationRoutes } from './notifications.ts';

/** What the routes of this room have in common. */
export const closed = { additionalProperties: false } as const;
export const tags = ['notifications'];
export const project = { projectIdOrName: Type.String({ description: 'Project id or name.' }) };
export const ProjectParams = Type.Object(project, closed);
export const RouteParams = Type.Object(
  { ...project, routeId: Type.String({ description: 'Route id.' }) },
  closed,
);
export const reading = { scopes: ['read' as const], projectWide: true as const };
export const changing = { projectWide: true as const };

export interface NotificationDeps {
  ground: { database: Database };
  deliveries: { notifications: NotificationRoutes };
  projects: Pick<Projects, 'confine'>;
}

export function projectOf(
  { projects }: NotificationDeps,
  { principal, params }: { principal: Principal; params: { projectIdOrName: string } },
): string {
  return projects.confine(principal, params.projectIdOrName).projectId;
}
