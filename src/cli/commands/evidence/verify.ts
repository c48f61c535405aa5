// ergon evidence verify: checks a pack without a service and without running anything of the pack. The keys are those of
// a file, else those that were pinned here, else the pack's own.
import { readFileSync } from 'node:fs'
import { openPromise, type ZipFile } from 'yauzl'
import { messageOf } from '#base/errors.ts'
import { textOption, type CommandCall } from '#cli/call.ts'
import { CommandError, EXIT, green, print, printJson, red } from '#cli/output.ts'
import { pinnedText } from '#cli/pinned-keys.ts'
import { PackError, verifyPack, type PackFiles } from '#tlog/evidence/verify.mjs'

/** Files of a pack that a verifier looks at; a thousand receipts are in each. */
const FILES_MAX = 1_000_000

export async function run({ options, words: [zip = ''] }: CommandCall): Promise<void> {
  const checks: { name: string; detail: string }[] = []
  const addCheck = (name: string, detail: string) => {
    checks.push({ name, detail })
    if (!options.json) print(`${green('ok  ')} ${name.padEnd(9)} ${detail}`)
  }
  const keysFile = textOption(options, 'keys')
  const keys = keysFile === undefined ? pinnedText() : readFileSync(keysFile, 'utf8')
  using archive = await openZip(zip)
  try {
    const pack = await verifyPack(archive.files, {
      told: addCheck,
      ...(keys !== undefined && { keys }),
    })
    if (options.json) return printJson({ ok: true, ...pack, checks })
    print(
      `The evidence pack ${pack.pack} of ${pack.account} holds, from ${pack.from} to before ${pack.to}`,
    )
  } catch (error) {
    const file = error instanceof PackError ? error.file : null
    if (options.json) printJson({ ok: false, file, reason: messageOf(error), checks })
    else print(`${red('FAIL')} ${messageOf(error)}`)
    throw new CommandError('The evidence pack does not hold', EXIT.receipt)
  }
}

type OpenZip = Disposable & { readonly files: PackFiles }

async function openZip(path: string): Promise<OpenZip> {
  const zip: ZipFile = await openPromise(path, { autoClose: false }).catch((error: unknown) => {
    throw new CommandError(`Could not read the zip ${path}: ${messageOf(error)}`, EXIT.failed)
  })
  const entries = new Map<string, Parameters<ZipFile['openReadStreamPromise']>[0]>()
  for await (const entry of zip.eachEntry()) {
    if (entries.has(entry.fileName) || entries.size >= FILES_MAX)
      throw new CommandError(
        `Could not read the zip: ${entry.fileName} is there twice`,
        EXIT.receipt,
      )
    entries.set(entry.fileName, entry)
  }
  return {
    files: {
      names: [...entries.keys()],
      async read(name) {
        const entry = entries.get(name)
        if (entry === undefined) throw new PackError(name, 'it is missing')
        return (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>
      },
    },
    [Symbol.dispose]: () => zip.close(),
  }
}
