// Rules that hold between the tables of the contract and the source: each operation is bound, each error code is
// answered with, each setting is read, each event is emitted.
import { SETTINGS } from '#config/settings.ts'
import { EVENTS } from '#contract/events.ts'
import type { Operation } from '#contract/operation.ts'
import { OPERATIONS } from '#contract/operations.ts'
import { ROUTES } from '#contract/routes.ts'
import { isProductSource, unusedCodes, type SourceFile } from './error-codes.ts'

/** One broken rule, by file and line. */
export type Fault = { path: string; line: number; rule: string }

type Tables = {
  readonly operations: Readonly<Record<string, Pick<Operation, 'unrouted'>>>
  readonly routes: readonly { readonly method: string; path: string; readonly operation: string }[]
  readonly settings: Readonly<Record<string, { readonly name: string; readonly help: string }>>
  readonly events: Readonly<Record<string, unknown>>
}

const UNREAD = 'not read yet'

/** Faults of the contract's tables against the source of the product. */
export function contractFaults(
  paths: readonly string[],
  read: (path: string) => string,
  tables: Tables = { operations: OPERATIONS, routes: ROUTES, settings: SETTINGS, events: EVENTS },
): Fault[] {
  const files = paths.filter(isProductSource).map((path) => ({ path, text: read(path) }))
  return [
    ...operationFaults(tables),
    ...unusedCodes(files).map((code) => ({
      path: 'src/contract/errors.ts',
      line: 1,
      rule: `nothing answers with the code ${code}`,
    })),
    ...settingFaults(tables, files),
    ...eventFaults(tables, paths, read),
  ]
}

const EMITTED = /\bemit_event\([^,()]+(?:\([^()]*\))?,\s*'([^']+)'/g

/** An event that the contract does not have, and an event that nothing emits. */
function eventFaults(
  { events }: Tables,
  paths: readonly string[],
  read: (path: string) => string,
): Fault[] {
  const found = paths
    .filter((path) => isProductSource(path) || /^src\/.*\.sql$/.test(path))
    .flatMap((path) =>
      [...read(path).matchAll(EMITTED)].map(({ 1: type = '' }) => ({ path, type })),
    )
  const emitted = new Set(found.map(({ type }) => type))
  return [
    ...found
      .filter(({ type }) => !Object.hasOwn(events, type))
      .map(({ path, type }) => ({
        path,
        line: 1,
        rule: `contract/events.ts has no event ${type}`,
      })),
    ...Object.keys(events)
      .filter((type) => !emitted.has(type))
      .map((type) => ({
        path: 'src/contract/events.ts',
        line: 1,
        rule: `nothing emits the event ${type}`,
      })),
  ]
}

function operationFaults({ operations, routes }: Tables): Fault[] {
  const routed = new Set(routes.map(({ operation }) => operation))
  const unbound = Object.entries(operations).filter(
    ([name, { unrouted }]) => !routed.has(name) && unrouted !== true,
  )
  const bindings = routes.map(({ method, path }) => `${method} ${path}`)
  const twice = bindings.filter((binding, index) => bindings.indexOf(binding) !== index)
  return [
    ...unbound.map(([name]) => ({
      path: 'src/contract/operations.ts',
      line: 1,
      rule: `no route binds the operation ${name}`,
    })),
    ...twice.map((binding) => ({
      path: 'src/contract/routes.ts',
      line: 1,
      rule: `two routes bind ${binding}`,
    })),
  ]
}

/** A setting that nothing reads is a promise that is not kept: its help has to say so. */
function settingFaults({ settings }: Tables, files: readonly SourceFile[]): Fault[] {
  const wiring = files
    .filter(({ path }) => /^src\/(?!config\/)/.test(path))
    .map(({ text }) => text)
    .join('\n')
  const fault = (rule: string): Fault => ({ path: 'src/config/settings.ts', line: 1, rule })
  return Object.entries(settings).flatMap(([key, { name, help }]) => {
    const isRead = new RegExp(`\\bconfig\\.${key}\\b`).test(wiring)
    if (isRead === !help.includes(UNREAD)) return []
    return [fault(isRead ? `${name} is read: its help says it is not` : `nothing reads ${name}`)]
  })
}
