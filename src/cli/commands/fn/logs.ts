// ergon fn logs: the lines that are there, and with -f those that follow.
import { sleep } from '#base/clock.ts'
import { textOption, type CommandCall } from '#cli/call.ts'
import { apiGet, replyOf } from '#cli/client.ts'
import { functionPath } from '#cli/functions.ts'
import { print } from '#cli/output.ts'
import type { functionLogs } from '#contract/functions.ts'
import type { ReplyOf } from '#contract/reply-of.ts'

type Lines = ReplyOf<typeof functionLogs>

const LOOK_MS = 1000
/** A second's lines are at most 400. */
const FOLLOWED_MAX = 1000

export async function run({ options, words: [name = ''] }: CommandCall): Promise<void> {
  const path = `${functionPath(name)}/logs`
  const read = async (query: string): Promise<Lines> =>
    replyOf<typeof functionLogs>(await apiGet(options, `${path}?${query}`))
  const show = ({ data }: Lines) => {
    for (const line of data) print(options.json ? JSON.stringify(line) : textOf(line))
  }
  let lines = await read(`limit=${encodeURIComponent(textOption(options, 'limit') ?? '200')}`)
  show(lines)
  while (options['follow'] === true) {
    await sleep(LOOK_MS)
    lines = await read(`after=${lines.cursor}&limit=${FOLLOWED_MAX}`)
    show(lines)
  }
}

const textOf = ({ at, request_id: request, level, text }: Lines['data'][number]): string =>
  `${at} ${level.padEnd(5)} ${request ?? '-'} ${text}`
