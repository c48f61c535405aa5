// A loop device of a volume, for an engine that mounts devices and cannot make them. A shell holds it, and gives the files to
// the user of the container by a mount that only the shell has. It ends with its input, however the agent ends; the device
// ends with its last holder or mount.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import { baseFault } from '#base/own-errors.ts'

export type HeldDevice = {
  readonly path: string
  /** That of its root folder. */
  readonly mode: number
  release(): void
}

const ATTACH_MS = 60_000
const SCRIPT = `device=$(losetup --find --show --nooverlap "$1") && exec 9< "$device" && losetup --detach "$device" || exit
mount --no-mtab --types ext4 --options nosuid,nodev "$device" "$2" || exit
[ "$(stat -c %u "$2")" = "$3" ] || chown -RhP "$3:$3" "$2" || exit
mode=$(stat -c %a "$2") && umount --no-mtab "$2" || exit
echo "$device $mode"; read -r _`

/** Rejects with the message of the tools. */
export async function holdDevice(image: string, uid: number): Promise<HeldDevice> {
  const words = ['--mount', 'sh', '-c', SCRIPT, 'volume', image, dirname(image), String(uid)]
  const child = spawn('unshare', words, {
    cwd: '/',
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const signal = AbortSignal.timeout(ATTACH_MS)
  const release = () => void child.stdin.end()
  const errorText = text(child.stderr)
  child.stdin.on('error', () => undefined)
  const device = once(child.stdout, 'data', { signal }).then(([line]) => String(line).trim())
  const ended = once(child, 'close', { signal }).then(async () => {
    throw baseFault('internal', `Could not attach a volume: ${(await errorText).trim()}`)
  })
  ended.catch(() => undefined)
  try {
    const [path = '', mode = ''] = (await Promise.race([device, ended])).split(' ')
    return { path, mode: Number.parseInt(mode, 8), release }
  } catch (error) {
    child.kill('SIGKILL')
    throw error
  }
}
