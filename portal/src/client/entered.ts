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

/** After a sign-in or the end of the session: all tabs are loaded anew, this one at `path` where that is given. */
export function memberChanged(path?: string): void {
  forgetCodes()
  tellOtherTabs()
  if (path === undefined) location.reload()
  else location.assign(path)
}
