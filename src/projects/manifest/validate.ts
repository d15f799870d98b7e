import { compileShape } from './check-shape.ts';
import { failed, renderPath, type Finding, type Path } from './finding.ts';
import { ignoredRules, silence, type Ignored } from './ignore.ts';
import { readYaml, type Locate, type YamlSource } from './read-yaml.ts';
import type { ManifestCatalog, RuleContext } from './rules/context.ts';
import { checkIntegration } from './rules/integration.ts';
import { Manifest, ManifestIntegration, type ManifestIssue } from './schema.ts';

const shapeOfManifest = compileShape(Manifest);
const shapeOfIntegration = compileShape(ManifestIntegration);

/** A manifest that was read: `manifest` is there exactly when nothing of severity error was found. */
export interface ManifestCheck {
  manifest?: Manifest;
  errors: ManifestIssue[];
  warnings: ManifestIssue[];
  /** The line and column of a path, for what is found later, such as a conflict with what is live. */
  locate: Locate;
  /** What comments silence of that, too. */
  ignored: Ignored;
}

/** Reads and checks the text of an `svc.yaml`: its syntax, its shape and every rule. */
export function checkManifest(text: string, catalog: ManifestCatalog): ManifestCheck {
  const source = readYaml(text);
  const unreadable = source.value === undefined;
  const findings = unreadable
    ? source.findings
    : [...source.findings, ...findInManifest(source.value, catalog)];
  const issues = findings
    .map((finding) => placed(finding, source))
    .sort((left, right) => left.line - right.line || left.column - right.column);
  const errors = issues.filter(({ severity }) => severity === 'error');
  const ignored = ignoredRules(text);
  const warnings = silence(
    issues.filter(({ severity }) => severity === 'warning'),
    ignored,
  );
  const valid = errors.length === 0 ? { manifest: source.value as Manifest } : {};
  return { ...valid, errors, warnings, locate: source.locate, ignored };
}

function placed({ severity, rule, path, message, suggestion }: Finding, source: YamlSource): ManifestIssue {
  const { line, column } = source.locate(path);
  const issue = { severity, rule, path: renderPath(path), message, line, column };
  return suggestion === undefined ? issue : { ...issue, suggestion };
}

/** Checks the content of one integration that came as JSON; `root` is where it stands in the request. */
export function findInIntegration(content: unknown, root: Path, catalog: ManifestCatalog): Finding[] {
  const { findings, context } = soundness(shapeOfIntegration(content, root), catalog);
  return isMap(content)
    ? [...findings, ...checkIntegration(content as ManifestIntegration, root, context)]
    : findings;
}

function findInManifest(value: unknown, catalog: ManifestCatalog): Finding[] {
  const { findings, context } = soundness(shapeOfManifest(value), catalog);
  const integrations = isMap(value) ? value['integrations'] : undefined;
  if (!Array.isArray(integrations)) return findings;
  const ofIntegrations = integrations.flatMap((integration: unknown, index) =>
    isMap(integration)
      ? checkIntegration(integration as ManifestIntegration, ['integrations', index], context)
      : [],
  );
  return [...findings, ...ofIntegrations, ...duplicateNames(integrations)];
}

/** The findings of the shape, and what the rules may look at in spite of them. */
function soundness(
  findings: Finding[],
  catalog: ManifestCatalog,
): { findings: Finding[]; context: RuleContext } {
  // An unknown key is an error, but what stands beside it can be read.
  const broken = new Set<string>();
  for (const { rule, path } of findings) {
    if (rule === 'unknown-key') continue;
    // What stands above a broken place is broken with it.
    for (let length = path.length; length >= 0; length -= 1) {
      const key = JSON.stringify(path.slice(0, length));
      if (broken.has(key)) break;
      broken.add(key);
    }
  }
  const sound = (path: Path): boolean => !broken.has(JSON.stringify(path));
  return { findings, context: { catalog, sound } };
}

function duplicateNames(integrations: readonly unknown[]): Finding[] {
  const seen = new Set<string>();
  return integrations.flatMap((integration, index) => {
    const name = isMap(integration) ? integration['name'] : undefined;
    if (typeof name !== 'string') return [];
    if (!seen.has(name)) {
      seen.add(name);
      return [];
    }
    return [
      failed('integration-duplicate', ['integrations', index, 'name'], `the name ${name} stands twice`),
    ];
  });
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
