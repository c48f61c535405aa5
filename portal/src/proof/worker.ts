// Verifies a receipt away from the page. The log is read only where the service tells of a log that is not pinned.
import './globals.ts'
import { PartMissing, type LogReader } from '#tlog/history.ts'
import { tilePath } from '#tlog/tiles.ts'
import { judge } from './judge.ts'
import type { Asked } from './verdict.ts'

const LOG_MS = 5_000

async function read(path: string): Promise<Response> {
  const response = await fetch(`/.well-known/ergon/logs/${path}`, {
    signal: AbortSignal.timeout(LOG_MS),
  })
  if (response.status === 404) throw new PartMissing('the log does not have that part')
  if (!response.ok) throw new TypeError(`the log answered ${response.status}`)
  return response
}

const log: LogReader = {
  checkpoint: async (origin) => await (await read(`${origin}/checkpoint`)).text(),
  async tile(origin, id) {
    const response = await read(`${origin}/${tilePath(id, id.width)}`)
    return Buffer.from(new Uint8Array(await response.arrayBuffer()))
  },
}

// The page hears of an error as it does of any in a worker.
addEventListener('message', ({ data }: MessageEvent<Asked>) => {
  judge(data, log).then(postMessage, reportError)
})
