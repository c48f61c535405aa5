// Signers that have made a key and signed nothing: their folders, as five processes of a product leave them.
import { cpSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '#base/log.ts'
import { createQuorum } from '#signers/client.ts'
import { startSigner } from '#signers/signer.ts'
import { SIGNERS } from '#signers/wire.ts'

const log = createLogger('test', { level: 'error' })

/** Makes them in a folder that is absent; one that a crash cut off never gets its name. */
export async function makeSigners(folder: string, signal: AbortSignal): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'ergon-signers-'))
  try {
    const folders = Array.from({ length: SIGNERS }, (_, nth) => join(work, String(nth + 1)))
    const configs = folders.map((own, nth) => ({
      index: nth + 1,
      folder: own,
      socket: `${own}.sock`,
    }))
    const signers = await Promise.all(configs.map((config) => startSigner(config, log)))
    const quorum = createQuorum({ sockets: configs.map(({ socket }) => socket), log })
    await quorum.open(signal)
    await quorum.close()
    await Promise.all(signers.map((signer) => signer.close()))
    for (const own of folders) rmSync(join(own, 'lock'), { force: true })
    const part = `${folder}.part`
    rmSync(part, { recursive: true, force: true })
    cpSync(work, part, { recursive: true })
    renameSync(part, folder)
  } finally {
    rmSync(work, { recursive: true })
  }
}
