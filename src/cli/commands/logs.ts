// ergon logs: the lines that are there, and with -f those that follow.
import { sleep } from '#base/clock.ts'
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { print } from '#cli/output.ts'
import { workloadPath } from '#cli/workloads.ts'
import type { workloadLogs } from '#contract/workload-replies.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

type Lines = ReplyOf<typeof workloadLogs>

const LOOK_MS = 1000
/** A second's lines are at most 400. */
const FOLLOWED_MAX = 1000

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const path = `${workloadPath(name)}/logs`
  const read = async (query: string): Promise<Lines> =>
    replyOf<typeof workloadLogs>(await apiGet(options, `${path}?${query}`))
  const show = ({ data }: Lines) => {
    for (const line of data) print(options.json ? JSON.stringify(line) : textOf(line))
  }
  let lines = await read(`lines=${encodeURIComponent(textOption(options, 'lines') ?? '200')}`)
  show(lines)
  while (options['follow'] === true) {
    await sleep(LOOK_MS)
    lines = await read(`after=${lines.cursor}&lines=${FOLLOWED_MAX}`)
    show(lines)
  }
}

const textOf = ({ at, version, instance, stream, text }: Lines['data'][number]): string =>
  `${at} v${version}.${instance} ${stream.padEnd(7)} ${text}`
