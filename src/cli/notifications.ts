import { answerOf, type EventType, type Notifications } from '../../ui/client/src/index.ts';
import { connect, type ConnectionOptions } from './connection.ts';
import { Failure } from './failure.ts';
import { sayList, type ListOptions } from './rows.ts';

const path = '/v1/projects/{projectIdOrName}/notifications';

interface Route {
  event: EventType;
  destination: string;
  by: 'route' | 'topic';
}

/** `svc notifications list`: which event is told where. */
export async function listNotifications(options: ListOptions): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  await sayRoutes(options, await answerOf(api.GET(path, { params: { path: { projectIdOrName } } })));
}

/** `svc notifications add`: tells the events to the destination, too. */
export async function addNotification(
  destination: string,
  events: readonly EventType[],
  options: ListOptions,
): Promise<void> {
  await change(options, (routes) => [...routes, { destination, eventTypes: [...events] }]);
}

/** `svc notifications remove`. */
export async function removeNotification(
  destination: string,
  events: readonly EventType[],
  options: ListOptions,
): Promise<void> {
  await change(options, (routes) => {
    const isMeant = (route: Notifications['routes'][number], event: EventType): boolean =>
      route.destination === destination && events.includes(event);
    if (!routes.some((route) => route.eventTypes.some((event) => isMeant(route, event))))
      throw new Failure(
        `None of that is told to ${destination}.`,
        'svc notifications list tells what is told where; topics have routes of their own.',
      );
    return routes
      .map((route) => ({
        ...route,
        eventTypes: route.eventTypes.filter((event) => !isMeant(route, event)),
      }))
      .filter(({ eventTypes }) => eventTypes.length > 0);
  });
}

async function change(
  options: ListOptions,
  edit: (routes: Notifications['routes']) => Notifications['routes'],
): Promise<void> {
  const { api, project: projectIdOrName } = await connect(options);
  const params = { path: { projectIdOrName } };
  const { routes } = await answerOf(api.GET(path, { params }));
  const body = { routes: edit(routes) };
  await sayRoutes(options, await answerOf(api.PUT(path, { params, body })));
}

async function sayRoutes(
  options: ConnectionOptions & ListOptions,
  { routes, byTopics }: Notifications,
): Promise<void> {
  const rows = [
    ...routes.map((route) => ({ ...route, by: 'route' as const })),
    ...byTopics.map((route) => ({ ...route, by: 'topic' as const })),
  ].flatMap(({ eventTypes, destination, by }) =>
    eventTypes.map((event): Route => ({ event, destination, by })),
  );
  async function* each() {
    yield* rows;
  }
  await sayList(options, each(), {
    event: ({ event }) => event,
    destination: ({ destination }) => destination,
    by: ({ by }) => by,
  });
}
