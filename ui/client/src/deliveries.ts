import { answerOf, type CallOptions, type Calls } from './calls.ts';
import type { Delivery, DeliveryDetail, operations, ReplayRequest, ReplayStarted } from './generated/api.ts';
import { listOf, type List } from './pages.ts';

type Query = NonNullable<operations['listDeliveries']['parameters']['query']>;

export interface Deliveries {
  /** Newest first. */
  list(of?: Query, options?: CallOptions): List<Delivery>;
  /** With its attempts; the id is the `webhook-id`. */
  get(deliveryId: string, query?: { includeBody?: boolean }, options?: CallOptions): Promise<DeliveryDetail>;
  /** Sends it again. */
  retry(deliveryId: string, options?: CallOptions): Promise<Delivery>;
  /** Sends everything again that fits the filter, behind what is new; with `dryRun` it counts only. */
  replay(request: ReplayRequest, options?: CallOptions): Promise<ReplayStarted>;
}

const all = '/v1/projects/{projectIdOrName}/deliveries';

export function deliveriesOf({ api, projectIdOrName }: Calls): Deliveries {
  return {
    list: ({ pageSize, pageToken, ...filter } = {}, options = {}) =>
      listOf(
        (page) =>
          answerOf(
            api.GET(all, {
              params: { path: { projectIdOrName }, query: { ...filter, ...page } },
              ...options,
            }),
          ),
        {
          ...(pageSize === undefined ? {} : { pageSize }),
          ...(pageToken === undefined ? {} : { pageToken }),
        },
      ),
    get: (deliveryId, query = {}, options = {}) =>
      answerOf(
        api.GET(`${all}/{deliveryId}`, {
          params: { path: { projectIdOrName, deliveryId }, query },
          ...options,
        }),
      ),
    retry: (deliveryId, options = {}) =>
      answerOf(
        api.POST(`${all}/{deliveryId}:retry`, {
          params: { path: { projectIdOrName, deliveryId } },
          body: {},
          ...options,
        }),
      ),
    replay: (body, options = {}) =>
      answerOf(api.POST(`${all}:replay`, { params: { path: { projectIdOrName } }, body, ...options })),
  };
}
