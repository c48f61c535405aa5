// Volumes of a cell: file systems in files, which only the cell has mounted.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { CellRoot } from '#cells/cell.ts'
import { eventually } from '#cells/testing/harness.ts'
import { makeImageRoot } from '#cells/testing/image-root.ts'
import { runOnce } from '#cells/testing/run-once.ts'

const FOLDER = mkdtempSync(join(tmpdir(), 'volumes-'))
chmodSync(FOLDER, 0o755)
after(() => rmSync(FOLDER, { recursive: true }))
const IMAGE = join(FOLDER, 'image')
makeImageRoot(
  IMAGE,
  ['/bin/sh', '/bin/cat', '/bin/ls', '/usr/bin/head', '/bin/ln', '/usr/bin/stat'],
  {},
)
symlinkSync('/etc', join(IMAGE, 'data'))
/** Descriptors that the pid 1 of a cell may have while it starts the program. */
const DESCRIPTORS = Array.from({ length: 10 }, (_, nth) => nth + 3)
for (const number of DESCRIPTORS) mkdirSync(join(IMAGE, `var/data/${number}`), { recursive: true })
// Below the /proc of the cell, before it is entered: folders of the machine.
symlinkSync(`/proc/self/root${FOLDER}/outside`, join(IMAGE, 'out'))
const VOLUME = join(FOLDER, 'volume.img')
writeFileSync(VOLUME, '')
truncateSync(VOLUME, 16_000_000)
// Of root, as is what a cell with another uid has left.
const EARLIER = join(FOLDER, 'earlier')
mkdirSync(EARLIER)
writeFileSync(join(EARLIER, 'earlier'), 'earlier\n', { mode: 0o600 })
execFileSync('mke2fs', ['-q', '-t', 'ext4', '-d', EARLIER, VOLUME])

const CANNOT = { skip: process.getuid?.() !== 0 && 'needs root' }
const MIB_FOUR = 4_194_304

async function linesOf(script: string, path = '/var/data', more: Partial<CellRoot> = {}) {
  const root = { image: IMAGE, volumes: [{ path, image: VOLUME }], ...more }
  const { lines } = await runOnce({ level: 'root', argv: ['/bin/sh', '-c', script], root })
  return lines
}

const isAttached = () =>
  execFileSync('losetup', ['--associated', VOLUME], { encoding: 'utf8' }) !== ''

test('a volume belongs to its cell, and keeps what was written', CANNOT, async () => {
  const write =
    'cd /var/data && cat earlier && echo kept > file && ln -s /etc/shadow link && stat -c %U:%a .'
  assert.deepEqual(await linesOf(write), ['earlier', 'UNKNOWN:755'])
  const read = 'cd /srv && cat file && cat link; echo more >> file && cat file'
  const again = await linesOf(read, '/srv', { user: { uid: 5, gid: 5 } })
  assert.deepEqual(again, ['kept', 'cat: link: No such file or directory', 'kept', 'more'])
})

test('a full volume is ENOSPC, its mount has no devices and no setuid', CANNOT, async () => {
  const fill = `head -c ${MIB_FOUR * 5} /dev/zero > /var/data/big; : > /tmp/fine && echo fine`
  assert.deepEqual(await linesOf(`${fill}; : > /var/data/big`), [
    "head: error writing 'standard output': No space left on device",
    'fine',
  ])
  const mounts = await linesOf('while read -r line; do echo "$line"; done < /proc/mounts')
  const [mount = ''] = mounts.filter((line) => line.includes(' /var/data '))
  assert.match(mount, /^\/dev\/loop\d+ \/var\/data ext4 rw,nosuid,nodev,/)
})

test('the loop device ends with the cell', CANNOT, async () => {
  assert.deepEqual(await linesOf('echo done'), ['done'])
  assert.ok(await eventually(() => !isAttached()))
})

test(
  'a volume cannot be where the cell has files of its own, nor by a link of the image',
  CANNOT,
  async () => {
    for (const path of ['/etc', '/', '/dev', '/data', '/usr/../etc', '/out', '/out/more'])
      await assert.rejects(
        linesOf('echo never', path),
        { code: 'image_unsupported', message: /a volume cannot be at/ },
        path,
      )
  },
)

test(
  'nothing of an image is made below /proc, where links lead out of the cell',
  CANNOT,
  async () => {
    const memory = [{ path: '/out', bytes: 4096 }]
    await assert.rejects(
      linesOf('echo never', '/var/data', { memory }),
      /cannot be at \/proc\/self/,
    )
    const workingFolder = '/out/work'
    await assert.rejects(
      linesOf('echo never', '/var/data', { workingFolder }),
      /cannot be "\/proc\/self/,
    )
    assert.equal(existsSync(join(FOLDER, 'outside')), false)
  },
)

test(
  'a working folder that an earlier life has made a link in its volume does not lead out of the cell',
  CANNOT,
  async () => {
    // The folder of the outlet is open in pid 1.
    const folder = join(FOLDER, 'folder-of-outlet')
    mkdirSync(folder)
    writeFileSync(join(folder, 'of-the-machine'), '')
    const outlet = { socket: join(folder, 's'), ticket: 't', hosts: [] }
    const ports = [{ port: 3128, refusal: '' }]
    const links = DESCRIPTORS.map((n) => `ln -s /proc/self/fd/${n} /var/data/${n}`).join('; ')
    assert.deepEqual(await linesOf(links), [])
    for (const number of DESCRIPTORS) {
      const workingFolder = `/var/data/${number}`
      const lines = await linesOf('ls', '/var/data', {
        workingFolder,
        outlet: { ...outlet, ports },
      })
      assert.deepEqual([lines.length, lines[0]?.slice(0, 20)], [1, 'ergon: cannot start:'])
    }
  },
)
