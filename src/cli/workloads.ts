// Functions that the commands of workloads share.
import { apiGet, apiPost, replyOf } from './client.ts'
import { interruptible } from './interruptible.ts'
import { mbText, printLabelled } from './output.ts'
import { sizeText } from '#contract/values/sizes.ts'
import type { GlobalOptions } from './profile.ts'
import { answeringText, budgetText, statusText, versionTexts, waitForVersion } from './versions.ts'
import type { workloadList, workloadReply } from '#contract/workloads/workload-replies.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

export type Workload = ReplyOf<typeof workloadReply>

export const workloadPath = (name: string): string => `/v1/workloads/${encodeURIComponent(name)}`

export const getWorkload = async (options: GlobalOptions, name: string): Promise<Workload> =>
  replyOf<typeof workloadReply>(await apiGet(options, workloadPath(name)))

export const listWorkloads = async (
  options: GlobalOptions,
): Promise<{ readonly data: readonly Workload[] }> =>
  replyOf<typeof workloadList>(await apiGet(options, '/v1/workloads'))

/** POST of one of its verbs. */
export const askWorkload = async (
  options: GlobalOptions,
  name: string,
  verb: 'scale' | 'suspend' | 'resume' | 'rollback',
  body: object = {},
): Promise<Workload> =>
  replyOf<typeof workloadReply>(await apiPost(options, `${workloadPath(name)}/${verb}`, body))

/** Waits until a version answers. Throws a CommandError with why it does not. */
export const waitForWorkload = (
  options: GlobalOptions,
  name: string,
  version: number,
): Promise<Workload> =>
  interruptible(`The service goes on: ${COMMANDS.show} ${name}`, () =>
    waitForVersion(() => getWorkload(options, name), COMMANDS, version),
  )

const COMMANDS = { show: 'ergon workloads show', logs: 'ergon logs', resume: 'ergon resume' }

/** Its whole size is known once the manifest is there. */
const pullText = ({ done_bytes: done, total_bytes: total }: NonNullable<Workload['pull']>) =>
  total === 0 ? `${mbText(done)} so far` : `${mbText(done)} of ${mbText(total)}`

/** A line for each thing that a user asks of a workload; --json has all. */
export function printWorkload(one: Workload): void {
  const { pull } = one
  printLabelled([
    ['name', one.name],
    ['id', one.id],
    ['status', statusText(one)],
    ...(pull === null ? [] : [['pulling', pullText(pull)] as const]),
    ['address', [one.url, ...one.routes].join(', ')],
    ['image', one.image],
    ['digest', one.digest ?? 'not pulled yet'],
    ['version', answeringText(one)],
    [
      'instances',
      `${one.instances} (min ${one.scale.min}, max ${one.scale.max}, ${one.scale.target_requests} requests each)`,
    ],
    ['sleeps after', one.scale.min > 0 ? 'never' : one.scale_to_zero_after],
    ['size', `${one.cpu} CPU, ${mbText(one.memory_bytes)}`],
    ...one.volumes.map(
      ({ name, path, size_bytes: size, used_bytes: used }) =>
        [
          `volume ${name}`,
          `${mbText(used)} of ${sizeText(size)}, ${path === null ? 'not mounted' : `at ${path}`}`,
        ] as const,
    ),
    ['port', String(one.port ?? 'not known yet')],
    ['health', one.health?.path ?? 'its port is open'],
    ['variables', [...one.env, ...one.secrets].join(', ') || 'none'],
    ['energy budget', budgetText(one)],
    ['created', one.created_at],
    ...versionTexts(one.versions, ({ image }) => image),
  ])
}
