// The plan of a description: a step for each resource that it has or leaves out, each after those that it needs.
import { createHmac } from 'node:crypto'
import { ErgonError } from '#base/errors.ts'
import { HIDDEN_VALUE_MISFITS } from '#hcl/diagnostics.ts'
import { resourceFailure, type FoundResource, type StackAttributes } from '#resources/stack-part.ts'
import type { StackResource } from '#stack/stack.ts'
import {
  faultAt,
  NOTHING_KNOWN,
  readStack,
  type Described,
  type DeploymentInput,
} from '#deployments/described.ts'
import { publicOutputs } from '#deployments/outputs.ts'
import { stackPartOf, type AnyPart } from '#deployments/parts.ts'
import { assertFree } from './assert-free.ts'
import { differences, digestsOf } from './compare.ts'
import { isFree, ownedBy, type OwnedResource, type StackId } from './owned.ts'
import { withHandovers } from './handovers.ts'
import { planRemovals } from './plan-removals.ts'
import type { StackPlan, PlanDeps, PlannedStep } from './plan.ts'

/** A resource of the description, and the existing one. */
type SoughtResource = {
  readonly resource: StackResource
  readonly part: AnyPart
  readonly found: FoundResource | undefined
  readonly owned: OwnedResource | undefined
}

/** Throws description_invalid, resource_in_other_stack, and the errors of the state. */
export async function makePlan(
  deps: PlanDeps,
  id: StackId,
  { input, allowsDeletion }: { readonly input: DeploymentInput; readonly allowsDeletion: boolean },
): Promise<StackPlan> {
  const first = readStack(input, NOTHING_KNOWN)
  deps.mark()
  const owned = await ownedBy(deps.state, id)
  const sought = new Map<string, SoughtResource>()
  for (const resource of first.revealed.resources)
    sought.set(resource.address, await seek(deps, id, { resource, described: first, owned }))
  const described = readStack(input, {
    revealed: new Map([...sought].map(([address, { found }]) => [address, allOutputs(found)])),
    shown: new Map(
      [...sought].map(([address, { found, part }]) => [
        address,
        new Map(Object.entries(found === undefined ? {} : publicOutputs(found.outputs, part))),
      ]),
    ),
  })
  const wanted = new Map<string, StackAttributes>()
  const made = described.revealed.resources.map((resource, nth) => {
    const seen = sought.get(resource.address)
    const shown = described.shown.resources[nth]
    if (seen === undefined || shown === undefined) throw new TypeError('Two readings differ')
    const visible = wantedOf(seen.part, shown, { id, input, described })
    // Refused with its hidden values alone: the message may quote them.
    const fixedMessage = HIDDEN_VALUE_MISFITS
    const all = wantedOf(seen.part, resource, { id, input, described, fixedMessage })
    wanted.set(resource.address, all)
    const given = { all, visible, key: deps.key, described, allowsDeletion }
    return stepOf({ ...seen, resource }, given)
  })
  deps.mark()
  const left = [...owned.values()].filter(({ address }) => !sought.has(address))
  const ordered = withHandovers(deps.parts, made, { wanted, found: foundOf(sought) })
  const steps = await planRemovals(deps, id, { left, made: ordered, wanted, allowsDeletion })
  for (const resource of described.revealed.resources) {
    const step = steps.find(({ address }) => address === resource.address)
    const given = { account: id.account, steps, wanted }
    if (step !== undefined)
      await assertFree(deps, step, given).catch((error: unknown) => {
        throw placed(described, resource, error)
      })
  }
  const code = [...wanted].map(([address, all]) => [address, digestsOf(all, deps.key)])
  const text = JSON.stringify([id.stack, steps, code, allowsDeletion])
  const hash = createHmac('sha256', deps.key).update(text).digest('base64url')
  return { hash, steps }
}

async function seek(
  { state, parts }: PlanDeps,
  id: StackId,
  asked: {
    readonly resource: StackResource
    readonly described: Described
    readonly owned: ReadonlyMap<string, OwnedResource>
  },
): Promise<SoughtResource> {
  const { resource, described } = asked
  const { address, type: kind, name, spec } = resource
  const part = atPlace(described, resource, () => stackPartOf(parts, kind))
  const owned = asked.owned.get(address)
  const target = { account: id.account, name, spec: spec as never, id: owned?.resource }
  const seen = await part.find(state, target)
  const isOwn =
    seen !== undefined && (await isFree(state, id, { kind, address, resource: seen.id }))
  return { resource, part, found: isOwn ? seen : undefined, owned }
}

const foundOf = (sought: ReadonlyMap<string, SoughtResource>) =>
  new Map([...sought].map(([address, { found }]) => [address, found?.attributes ?? {}]))

const allOutputs = (found: FoundResource | undefined): ReadonlyMap<string, string> =>
  new Map(Object.entries(found?.outputs ?? {}))

/** Throws description_invalid at the place of the resource. */
function wantedOf(
  part: AnyPart,
  resource: StackResource,
  given: {
    readonly id: StackId
    readonly input: DeploymentInput
    readonly described: Described
    readonly fixedMessage?: string
  },
): StackAttributes {
  const { name, spec } = resource
  const wish = { account: given.id.account, name, spec: spec as never, files: given.input.files }
  return atPlace(given.described, resource, () => part.wanted(wish), given.fixedMessage)
}

/** A refusal has the place of the resource, and says what is given instead of its own message. */
function atPlace<T>(
  described: Described,
  resource: StackResource,
  work: () => T,
  fixedMessage?: string,
): T {
  try {
    return work()
  } catch (error) {
    throw placed(described, resource, error, fixedMessage)
  }
}

function placed(
  { source }: Described,
  { range }: StackResource,
  error: unknown,
  fixedMessage?: string,
): unknown {
  if (!(error instanceof ErgonError)) return error
  const { code, message } = error
  return faultAt(source, range.start, { code, message: fixedMessage ?? message })
}

function stepOf(
  { resource, part, found, owned }: SoughtResource,
  {
    all,
    visible,
    key,
    described,
    allowsDeletion,
  }: {
    readonly all: StackAttributes
    readonly visible: StackAttributes
    readonly key: string
    readonly described: Described
    readonly allowsDeletion: boolean
  },
): PlannedStep {
  const { address, type: kind, name, range, needs } = resource
  const { source } = described
  if (found !== undefined) atPlace(described, resource, () => part.assertChange?.(found, all))
  const lost = lostData(found, all)
  if (lost.length > 0 && !allowsDeletion)
    throw faultAt(source, range.start, {
      code: 'resource_holds_data',
      message: `Could not change ${address}: its data would be deleted: ${lost.join(', ')}; --allow-delete permits it`,
    })
  const changes = differences(found?.attributes, all, visible)
  const isKnown = owned !== undefined && owned.resource === found?.id
  const failure = changes.length === 0 ? resourceFailure(found) : undefined
  const isChanged = changes.length > 0 || failure !== undefined
  const otherwise = isChanged ? 'update' : isKnown ? 'none' : 'adopt'
  const { line, column } = source.placeOf(range.start)
  return {
    address,
    kind,
    name,
    action: found === undefined ? 'create' : otherwise,
    line,
    column,
    changes,
    outputs: publicOutputs(found?.outputs ?? {}, part),
    notes: [
      ...notesOf({ found, owned, isKnown }, key),
      ...(failure === undefined ? [] : [`it is tried again: ${failure}`]),
      ...lost.map((words) => `it deletes data: ${words}`),
    ],
    needs: [...needs],
    resource: found?.id ?? null,
  }
}

/** The data that goes with attributes that the description leaves out. */
const lostData = (found: FoundResource | undefined, wanted: StackAttributes): string[] =>
  Object.entries(found?.dataOf ?? {}).flatMap(([name, words]) => (name in wanted ? [] : [words]))

function notesOf(
  {
    found,
    owned,
    isKnown,
  }: Pick<SoughtResource, 'found' | 'owned'> & { readonly isKnown: boolean },
  key: string,
): string[] {
  if (found === undefined) return owned === undefined ? [] : ['it was deleted by other means']
  if (!isKnown) {
    const why = owned === undefined ? 'it exists already' : 'it was replaced by other means'
    return [`${why}: the stack takes it over`]
  }
  const { applied } = owned ?? {}
  if (applied === null || applied === undefined) return []
  const now = digestsOf(found.attributes, key)
  const other = Object.keys({ ...applied, ...now }).filter((name) => applied[name] !== now[name])
  return other.length === 0 ? [] : [`changed by other means: ${other.join(', ')}`]
}
