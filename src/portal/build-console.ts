// The build of the console, at a start from a checkout: a package has it built, and no sources. The program of the build ends
// at once where its sources have not changed. A build that fails leaves the one of before.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from '#artifacts/command.ts'
import { lockFile } from '#base/lock.ts'
import type { Logger } from '#base/log.ts'

const TIME_MS_MAX = 300_000
const WORDS_SHOWN = 2000

/** Builds the console of the tree in `folder`, at the lowest priority; never rejects. */
export async function buildConsole({
  folder,
  log,
  signal,
}: {
  readonly folder: string
  readonly log: Logger
  readonly signal: AbortSignal
}): Promise<void> {
  const program = join(folder, 'portal', 'build.ts')
  if (!existsSync(program)) return
  try {
    mkdirSync(join(folder, '.cache'), { recursive: true })
    // Another start of this tree may be building: then nothing is left to do.
    await using _ = await lockFile(join(folder, '.cache', 'portal-build.lock'), signal)
    const { code, stdout, stderr } = await runTool(
      ['nice', '-n', '19', process.execPath, program],
      {
        signal,
        timeoutMs: TIME_MS_MAX,
        cwd: folder,
      },
    )
    if (code === 0) log.info('The console is built', { said: stdout.trim().slice(-WORDS_SHOWN) })
    else
      log.error('The console was not built; the build of before stays', {
        code,
        said: stderr.trim().slice(-WORDS_SHOWN),
      })
  } catch (error) {
    if (!signal.aborted) log.error('The console was not built', { error })
  }
}
