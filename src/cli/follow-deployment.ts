// A deployment until its end: a line for each step, the faults with their places, the addresses.
import { sleep } from '#base/clock.ts'
import type { deploymentReply, DeploymentReply } from '#contract/deployments/deployments.ts'
import type { CommandCall } from './call.ts'
import { apiGet, replyOf } from './client.ts'
import { widthOf } from './deployments.ts'
import { interruptible } from './interruptible.ts'
import { CommandError, EXIT, green, red, tell } from './output.ts'
import { readPatiently } from './read-patiently.ts'

type Step = DeploymentReply['steps'][number]

/** Each poll costs the account: a longer deployment is polled less often. */
const LOOK_MS = 300
const LOOK_MS_MAX = 2_000
const SLOWER = 1.2

export const deploymentPath = (id: string): string => `/v1/deployments/${encodeURIComponent(id)}`

export const getDeployment = async (
  options: CommandCall['options'],
  id: string,
): Promise<DeploymentReply> =>
  replyOf<typeof deploymentReply>(await apiGet(options, deploymentPath(id)))

/** Tells each step on stderr; resolves when the deployment has ended. ^C leaves it running. */
export async function followDeployment(
  options: CommandCall['options'],
  begun: DeploymentReply,
): Promise<DeploymentReply> {
  const { id } = begun
  const words = `The deployment goes on: ergon deployments show ${id} --watch
It ends by: ergon deployments cancel ${id}`
  const shownSteps = new Map<string, Step['status']>()
  return await interruptible(words, async () => {
    let now = begun
    let restMs = LOOK_MS
    for (;;) {
      for (const step of now.steps) tellStep(step, shownSteps, widthOf(now.steps))
      if (now.status !== 'running') return now
      await sleep(restMs)
      restMs = Math.min(restMs * SLOWER, LOOK_MS_MAX)
      now = await readPatiently(() => getDeployment(options, id))
    }
  })
}

const WORDS: Readonly<Record<string, string>> = {
  adopt: 'is taken over',
  create: 'is made',
  update: 'is changed',
  delete: 'is deleted',
}

function tellStep(step: Step, shownSteps: Map<string, Step['status']>, width: number): void {
  const { address, action, status } = step
  if (action === 'none' || action === 'keep' || status === 'waiting') return
  if (shownSteps.get(address) === status) return
  shownSteps.set(address, status)
  const head = `  ${address.padEnd(width)}`
  if (status === 'running') tell(`${head} ${WORDS[action] ?? action} …`)
  else if (status === 'done') tell(`${head} ${green('done')} ${secondsOf(step)}`)
  else if (status === 'failed') tell(`${head} ${red('failed')}: ${step.fault?.message ?? ''}`)
  else tell(`${head} not done`)
}

const secondsOf = ({ started_at: from, ended_at: to }: Step): string =>
  from === null || to === null
    ? ''
    : `(${((Date.parse(to) - Date.parse(from)) / 1000).toFixed(1)} s)`

const changingOf = (steps: DeploymentReply['steps']) =>
  steps.filter(({ action }) => action !== 'none' && action !== 'keep')

/** The steps of a deployment that has ended, by what became of them. */
export function outcomeText({ steps }: DeploymentReply): string {
  const named = (wanted: Step['status']) =>
    changingOf(steps)
      .filter((step) => step.status === wanted)
      .map(({ address }) => address)
      .join(', ') || 'none'
  return `Done: ${named('done')}. Failed: ${named('failed')}. Not done: ${named('skipped')}.`
}

/** Throws a CommandError of a deployment that failed or was cancelled: what was done, what was not, and why. */
export function assertDone(ended: DeploymentReply): void {
  const { id, file, status, steps } = ended
  if (status === 'done') return
  const isCancelled = status === 'cancelled'
  const changing = changingOf(steps)
  const faults = changing.flatMap(({ address, line, column, fault }) =>
    fault === null
      ? []
      : [`${line === null ? '' : `${file}:${line}:${column}: `}${address}: ${fault.message}`],
  )
  throw new CommandError(
    [...(isCancelled ? ['The deployment was cancelled'] : []), ...faults, outcomeText(ended)].join(
      '\n',
    ),
    EXIT.failed,
    `${isCancelled ? '' : 'mend it and '}deploy again; ergon deployments show ${id}`,
    isCancelled ? 'deployment_cancelled' : 'deployment_failed',
  )
}

/** Addresses and outputs: `function.hello  https://…`. */
export function addressLines({ steps, outputs }: DeploymentReply): string[] {
  const width = widthOf([...steps, ...outputs.map(({ name }) => ({ address: name }))])
  return [
    ...steps.flatMap(({ address, outputs: { url } }) =>
      url === undefined ? [] : [`${address.padEnd(width)} ${url}`],
    ),
    ...outputs.map(
      ({ name, value, sensitive }) =>
        `${name.padEnd(width)} ${sensitive ? '(sensitive)' : typeof value === 'string' ? value : JSON.stringify(value)}`,
    ),
  ]
}
