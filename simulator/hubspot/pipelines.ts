import { empty, isObject, json } from '../kit/index.ts';
import type { JsonObject, Reply } from '../kit/index.ts';
import { missingFields, notFound } from './errors.ts';
import type { Refusal } from './errors.ts';
import type { Hub, HubCall } from './hub.ts';
import type { Pipeline, Stage } from './pipeline-data.ts';
import type { ObjectType } from './types.ts';
import { textOf } from './write.ts';

type Answer = Reply | Refusal;

function pipelinesOf(hub: Hub, type: ObjectType): Pipeline[] {
  const known = hub.portal.pipelines.get(type.plural) ?? [];
  hub.portal.pipelines.set(type.plural, known);
  return known;
}

function find(hub: Hub, type: ObjectType, id: string | undefined): Pipeline | undefined {
  return pipelinesOf(hub, type).find((one) => one.id === id);
}

export function listPipelines(hub: Hub, type: ObjectType): Answer {
  return json(200, { results: pipelinesOf(hub, type) });
}

export function getPipeline(hub: Hub, type: ObjectType, { call }: HubCall): Answer {
  const pipeline = find(hub, type, call.params['pipeline']);
  return pipeline ? json(200, pipeline) : notFound();
}

export function createPipeline(hub: Hub, type: ObjectType, { body }: HubCall): Answer {
  const label = textOf(body['label']);
  if (!label) return missingFields(['label']);
  const { metadata: _none, ...base } = newStage(hub, body, label);
  const pipeline = { ...base, id: textOf(body['pipelineId']) ?? base.id, stages: stagesOf(hub, body) };
  pipelinesOf(hub, type).push(pipeline);
  return json(201, pipeline);
}

/** PATCH, and PUT, which sets the stages as well. */
export function updatePipeline(hub: Hub, type: ObjectType, { call, body }: HubCall): Answer {
  const pipeline = find(hub, type, call.params['pipeline']);
  if (!pipeline) return notFound();
  change(hub, pipeline, body);
  if (call.method === 'PUT') pipeline.stages = stagesOf(hub, body);
  return json(200, pipeline);
}

export function deletePipeline(hub: Hub, type: ObjectType, { call }: HubCall): Answer {
  const pipeline = find(hub, type, call.params['pipeline']);
  if (!pipeline) return notFound();
  hub.portal.pipelines.set(
    type.plural,
    pipelinesOf(hub, type).filter((one) => one !== pipeline),
  );
  return empty(204);
}

export function listStages(hub: Hub, type: ObjectType, { call }: HubCall): Answer {
  const pipeline = find(hub, type, call.params['pipeline']);
  return pipeline ? json(200, { results: pipeline.stages }) : notFound();
}

export function getStage(hub: Hub, type: ObjectType, { call }: HubCall): Answer {
  const stage = findStage(hub, type, call.params);
  return stage ? json(200, stage) : notFound();
}

export function createStage(hub: Hub, type: ObjectType, { call, body }: HubCall): Answer {
  const pipeline = find(hub, type, call.params['pipeline']);
  const label = textOf(body['label']);
  if (!pipeline) return notFound();
  if (!label) return missingFields(['label']);
  const stage = newStage(hub, body, label);
  pipeline.stages.push(stage);
  return json(201, stage);
}

export function updateStage(hub: Hub, type: ObjectType, { call, body }: HubCall): Answer {
  const stage = findStage(hub, type, call.params);
  if (!stage) return notFound();
  change(hub, stage, body);
  if (isObject(body['metadata'])) stage.metadata = metadataOf(body);
  return json(200, stage);
}

export function deleteStage(hub: Hub, type: ObjectType, { call }: HubCall): Answer {
  const pipeline = find(hub, type, call.params['pipeline']);
  const stage = findStage(hub, type, call.params);
  if (!pipeline || !stage) return notFound();
  pipeline.stages = pipeline.stages.filter((one) => one !== stage);
  return empty(204);
}

function findStage(hub: Hub, type: ObjectType, params: Record<string, string>): Stage | undefined {
  return find(hub, type, params['pipeline'])?.stages.find((one) => one.id === params['stage']);
}

function stagesOf(hub: Hub, body: JsonObject): Stage[] {
  const given: unknown[] = Array.isArray(body['stages']) ? body['stages'] : [];
  return given.filter(isObject).map((one) => newStage(hub, one, textOf(one['label']) ?? ''));
}

function newStage(hub: Hub, body: JsonObject, label: string): Stage {
  const now = hub.ground.clock.iso();
  return {
    id: textOf(body['stageId']) ?? String(100_000_000 + hub.ground.random.int(900_000_000)),
    label,
    displayOrder: Number(textOf(body['displayOrder']) ?? 0),
    metadata: metadataOf(body),
    archived: false,
    createdAt: now,
    updatedAt: now,
  };
}

function metadataOf(body: JsonObject): Record<string, string> {
  const given = isObject(body['metadata']) ? body['metadata'] : {};
  return Object.fromEntries(Object.entries(given).map(([name, value]) => [name, textOf(value) ?? '']));
}

function change(hub: Hub, target: Pipeline | Stage, body: JsonObject): void {
  target.label = textOf(body['label']) ?? target.label;
  target.displayOrder = Number(textOf(body['displayOrder']) ?? target.displayOrder);
  target.updatedAt = hub.ground.clock.iso();
}
