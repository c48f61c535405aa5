// The build of the console, at a start from a checkout: a package has it built, and no sources. The program of the build ends
// at once where its sources have not changed. A build that fails leaves the one of before.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runTool } from '#artifacts/command.ts'
import { lockFile } from '#base/lock.ts'
import type { Logger } from '#base/log.ts'

const TIME_MS_MAX = 300_000
const WORDS_SHOWN = 2000
/** Words of the program of the build, where there is something to build. */
const BEGUN = 'portal: building'

/** Builds the console of the tree in `folder`, at the lowest priority; never rejects. */
export async function buildConsole({
  folder,
  log,
  tell,
  signal,
}: {
  readonly folder: string
  readonly log: Logger
  /** Says a step of the start to the user who starts the service: lines of this level are in no log by default. */
  readonly tell: (text: string) => void
  readonly signal: AbortSignal
}): Promise<void> {
  const program = join(folder, 'portal', 'build.ts')
  if (!existsSync(program)) return
  let isBuilding = false
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
        onOutput(text) {
          if (!text.includes(BEGUN)) return
          isBuilding = true
          tell(
            'the console is being built; an earlier build is served meanwhile, where there is one',
          )
        },
      },
    )
    if (code === 0) {
      if (isBuilding) tell('the console is built')
      log.info('The console is built', { said: stdout.trim().slice(-WORDS_SHOWN) })
    } else
      log.error('The console was not built; an earlier build stays, where there is one', {
        code,
        said: stderr.trim().slice(-WORDS_SHOWN),
      })
  } catch (error) {
    if (!signal.aborted) log.error('The console was not built', { error })
  }
}
