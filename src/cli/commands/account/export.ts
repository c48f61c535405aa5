// ergon account export: every record of the account, into a file that is there whole or not at all.
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { apiBytes } from '#cli/client.ts'
import type { CommandCall } from '#cli/call.ts'
import { CommandError, EXIT, tell } from '#cli/output.ts'
import { wholeFile } from '#cli/whole-file.ts'

const PATH = '/v1/account/export'
const LAST_LINE = /\{"record":"end","records":(\d+)\}\n$/
const TAIL_CHARS = 200

export async function run({ options, words: [file] }: CommandCall): Promise<void> {
  if (file === undefined || file === '-') {
    for await (const chunk of demandEnd(await apiBytes(options, PATH)))
      if (!process.stdout.write(chunk)) await once(process.stdout, 'drain')
    return
  }
  await wholeFile(file, async (path) => {
    const bytes = demandEnd(await apiBytes(options, PATH))
    await pipeline(Readable.from(bytes), createWriteStream(path, { mode: 0o600 }))
  })
  tell(`The export is in ${file}`)
}

/** Passes the bytes on; throws at the end of an export that was cut. */
async function* demandEnd(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let tail = ''
  for await (const chunk of bytes) {
    tail = (tail + chunk.toString('latin1')).slice(-TAIL_CHARS)
    yield chunk
  }
  if (!LAST_LINE.test(tail))
    throw new CommandError('The export ended before its last line', EXIT.failed, 'try again')
}
