// A disk that can lose its power: ext4 on a loop device. The cut is the file system's own shutdown without a flush of
// its log: unsynced data is gone, as the page cache is in a power cut; data written until then stays.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH (fs/ext4/ext4.h). */
const SHUTDOWN =
  'open(F, "<", $ARGV[0]) or die $!; my $f = pack("L", 2); ioctl(F, 0x8004587d, $f) or die $!'
const FREE_MAX_MS = 60_000
const POLL_MS = 20

export type Volume = Disposable & {
  /** Where it is mounted. */
  readonly folder: string
  /** Makes everything on it durable: what a test puts there itself. */
  settle(): void
  /** The power goes. Every write from now on is an error. */
  cut(): void
  /** Mounts it again, when all processes that had files open there are gone: the journal is replayed. */
  restore(): Promise<void>
}

/** Why there can be none here; to skip with. */
export function whyNoVolume(): string | false {
  if (process.geteuid?.() !== 0) return 'a disk that loses its power needs root'
  try {
    using volume = openVolume(16)
    volume.cut()
    return false
  } catch (error) {
    return `no ext4 on a loop device here: ${error instanceof Error ? error.message.trim() : ''}`
  }
}

/** Makes a disk of so many MiB and mounts it. */
export function openVolume(sizeMib: number): Volume {
  const root = mkdtempSync(join(tmpdir(), 'ergon-volume-'))
  // PostgreSQL runs as a user of its own.
  chmodSync(root, 0o711)
  const image = join(root, 'image')
  const folder = join(root, 'disk')
  const command = (program: string, ...args: string[]) =>
    void execFileSync(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  const remove = () => rmSync(root, { recursive: true, force: true })
  try {
    command('truncate', '--size', `${sizeMib}M`, image)
    command('mkfs.ext4', '-q', '-m', '0', image)
    mkdirSync(folder)
    command('mount', '-o', 'loop', image, folder)
  } catch (error) {
    remove()
    throw error
  }
  return {
    folder,
    settle: () => command('sync', '--file-system', folder),
    cut: () => command('perl', '-e', SHUTDOWN, folder),
    async restore() {
      await unmounted(folder)
      // A file system that is not sound after its own replay would be a fault of the harness.
      command('mount', '-o', 'loop', image, folder)
    },
    [Symbol.dispose]() {
      spawnSync('umount', ['--lazy', folder])
      remove()
    },
  }
}

/** Processes that were killed give up their files a moment later. */
async function unmounted(folder: string): Promise<void> {
  for (const last = performance.now() + FREE_MAX_MS; ; await pause(POLL_MS)) {
    const { status, stderr } = spawnSync('umount', [folder], { encoding: 'utf8' })
    if (status === 0) return
    if (performance.now() > last) throw new Error(`Could not unmount ${folder}: ${stderr}`)
  }
}
