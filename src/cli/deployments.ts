// Deployments that the commands of description files share: what is sent, plans in words, and how one goes on.
import { basename, dirname, join, resolve } from 'node:path'
import type {
  deploymentPlan,
  DeploymentPlan,
  deploymentReply,
  DeploymentReply,
} from '#contract/deployments/deployments.ts'
import { FILE_NAME_MAX, STACK_NAME } from '#contract/deployments/deployment-limits.ts'
import { bundleFile, type FunctionBundle } from './bundle.ts'
import { textOption, type CommandCall } from './call.ts'
import { apiPost, replyOf } from './client.ts'
import {
  assertFaultless,
  descriptionPath,
  readDescription,
  tellFaults,
  type DescriptionFile,
} from './description.ts'
import { CommandError, dim, EXIT, green, red } from './output.ts'

type Options = CommandCall['options']
type Call = Pick<CommandCall, 'options' | 'words'>

/** The body of POST /v1/deployments. */
export type WantedStack = {
  readonly stack: string
  readonly file: string
  readonly description: string
  readonly variables?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, FunctionBundle>>
  readonly allow_delete: boolean
}

/** Checks the description here first, and bundles the code of its functions. Throws a CommandError. */
export async function wantedOf(call: Call): Promise<WantedStack> {
  const { options } = call
  const path = descriptionPath(call)
  const described = readDescription(path, options)
  tellFaults(described.source, described.diagnostics)
  assertFaultless(described.source, described.diagnostics)
  return {
    ...nothingWanted(call),
    description: described.source.text,
    variables: Object.fromEntries(described.variables),
    files: await bundlesOf(path, described),
  }
}

/** An empty description: all that the stack has is removed. */
export function nothingWanted(call: Call): WantedStack {
  const path = descriptionPath(call)
  return {
    stack: stackOf(call.options, path),
    // The service names it in its faults, as this machine does.
    file: path.length > FILE_NAME_MAX ? basename(path) : path,
    description: '',
    allow_delete: call.options['allowDelete'] === true,
  }
}

/** The name that is given, or that of the file's folder. */
function stackOf(options: Options, path: string): string {
  const given = textOption(options, 'stack')
  const folder = basename(dirname(resolve(path)))
  const name =
    given ??
    folder
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '-')
      .replace(/^-/, '')
  if (STACK_NAME.test(name)) return name
  const what =
    given === undefined ? `The folder gives no name of a stack: ${folder}` : `Not a stack: ${given}`
  throw new CommandError(what, EXIT.usage, '--stack <name>, of a-z, 0-9 and -')
}

async function bundlesOf(
  path: string,
  { stack }: DescriptionFile,
): Promise<Record<string, FunctionBundle>> {
  const bundles: Record<string, FunctionBundle> = {}
  for (const { type, spec } of stack.resources)
    if (type === 'function' && typeof spec.file === 'string')
      bundles[spec.file] = await bundleFile(join(dirname(path), spec.file))
  return bundles
}

export const planOf = async (options: Options, wanted: WantedStack): Promise<DeploymentPlan> =>
  replyOf<typeof deploymentPlan>(
    await apiPost(options, '/v1/deployments', { ...wanted, dry_run: true }),
  )

export const startDeployment = async (
  options: Options,
  wanted: WantedStack,
  plan: string,
): Promise<DeploymentReply> =>
  replyOf<typeof deploymentReply>(await apiPost(options, '/v1/deployments', { ...wanted, plan }))

type PlanStep = DeploymentPlan['steps'][number]

const SIGNS: Readonly<Record<PlanStep['action'], string>> = {
  none: ' ',
  adopt: '~',
  create: '+',
  update: '~',
  delete: '-',
  keep: '!',
}

/** A line for each step that changes something, or would. */
export function planText({
  stack,
  changes,
  steps,
}: Omit<DeploymentPlan, 'object' | 'plan'>): string {
  const shown = steps.filter(({ action }) => action !== 'none')
  const width = widthOf(shown)
  const lines = shown.map((step) => stepText(step, width))
  const count = `${changes} change${changes === 1 ? '' : 's'}`
  return [`${stack}: ${changes === 0 ? 'nothing to change' : count}`, ...lines].join('\n')
}

const ADDRESS_WIDTH = 24

/** The width of a column of addresses. */
export const widthOf = (steps: readonly { readonly address: string }[]): number =>
  Math.max(ADDRESS_WIDTH, ...steps.map(({ address }) => address.length))

function stepText({ address, action, changes, notes }: PlanStep, width: number): string {
  const words = [
    ...changes.flatMap((change) => changeText(change, action === 'create')),
    ...notes.map((note) => dim(`(${note})`)),
    ...(action === 'keep' ? ['is kept: --allow-delete deletes it'] : []),
  ]
  const head = `  ${SIGNS[action]} ${address.padEnd(width)}`
  const paint = { create: green, delete: red }[action as string] ?? ((text: string) => text)
  return `${paint(head)} ${words.join(', ')}`.trimEnd()
}

function changeText(
  { attribute, before, after, hidden, pending }: PlanStep['changes'][number],
  isNew: boolean,
): string[] {
  if (pending) return [`${attribute} is known later`]
  if (hidden) return [`${attribute} (hidden)`]
  if (isNew) return after === '' ? [] : [`${attribute} ${after}`]
  return [`${attribute} ${before ?? 'none'} → ${after ?? 'none'}`]
}
