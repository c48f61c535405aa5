// Images of tests: a shell and perl of this machine, the server of server.pl, and attempts to leave a cell.
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PROBES } from '#cells/testing/escape.ts'
import { makeImageRoot } from '#cells/testing/image-root.ts'
import { writeLayout } from '#images/testing.ts'

const BYTES_MAX = 200_000_000
const COMMAND = ['/usr/bin/perl', '/app/server.pl']

/** Writes a layout of OCI; the digest of its manifest. */
export function writeServerImage(
  folder: string,
  more: {
    readonly config?: object
    /** Path inside → content. */
    readonly files?: Readonly<Record<string, string | Buffer>>
    /** Folders of this machine that are copied into its root folder, with modes and capabilities. */
    readonly folders?: readonly string[]
  } = {},
): string {
  const root = mkdtempSync(join(tmpdir(), 'ergon-image-'))
  chmodSync(root, 0o755)
  try {
    makeImageRoot(root, ['/bin/sh', '/usr/bin/perl'], {
      'app/server.pl': readFileSync(join(import.meta.dirname, 'server.pl'), 'utf8'),
      'app/escape-probes.pl': readFileSync(PROBES, 'utf8'),
      ...more.files,
    })
    for (const from of more.folders ?? []) execFileSync('cp', ['--archive', from, root])
    const layer = execFileSync('tar', ['-C', root, '--xattrs', '-c', '.'], { maxBuffer: BYTES_MAX })
    mkdirSync(folder, { recursive: true })
    return writeLayout(folder, {
      layers: [layer],
      config: {
        Cmd: COMMAND,
        ExposedPorts: { '8080/tcp': {} },
        WorkingDir: '/app',
        ...more.config,
      },
    })
  } finally {
    rmSync(root, { recursive: true })
  }
}
