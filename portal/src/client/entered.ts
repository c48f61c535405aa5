// Somebody has signed in, maybe another member than before, or has left: no tab of the browser goes on with what it knew. A
// page that is loaded anew has no read, no live figure and no form of the member before.
import { forgetCodes } from '#console/sign-up/progress.ts'
import { begunUploads } from './begun-uploads.ts'

const channel = new BroadcastChannel('ergon-entered')

/** Call it once, when the console starts. */
export const followOtherTabs = (): void =>
  channel.addEventListener('message', () => {
    forgetCodes()
    location.reload()
  })

/** For a tab that goes on by itself, with the codes of a new member. */
export function tellOtherTabs(): void {
  begunUploads.forgetAll()
  channel.postMessage('')
}

/** The page is loaded anew, or the one at `path`. */
export function entered(path?: string): void {
  forgetCodes()
  tellOtherTabs()
  load(path)
}

/** After the end of the session of this browser: the page is loaded anew, or the one at `path`. */
export function left(path?: string): void {
  forgetCodes()
  begunUploads.forgetAll()
  load(path)
}

function load(path: string | undefined): void {
  if (path === undefined) location.reload()
  else location.assign(path)
}
