// ergon models pull: fetches a GGUF file over HTTPS, checks its hash, and serves it.
import { basename } from 'node:path'
import { CommandError, EXIT, printJson, tell, tellWork } from '#cli/output.ts'
import type { CommandCall } from '#cli/call.ts'
import { addModel, modelFields } from './add.ts'

export async function run({ options, words: [url = ''] }: CommandCall): Promise<void> {
  const sha256 = options['sha256']
  if (typeof sha256 !== 'string' || !/^[0-9a-f]{64}$/i.test(sha256))
    throw new CommandError('--sha256 is needed: 64 hexadecimal digits', EXIT.usage)
  const body = { pull: url, sha256: sha256.toLowerCase(), ...modelFields(options) }
  tellWork(`fetching and loading ${basename(url)}`)
  const added = await addModel(options, body)
  if (options.json) printJson(added)
  else tell(`${added.id} is being served`)
}
