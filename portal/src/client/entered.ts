// Somebody has signed in, maybe another member than before: no tab of the browser goes on with what it knew. A page that is
// loaded anew has no read, no live figure and no form of the member before.
const channel = new BroadcastChannel('ergon-entered')

/** Call it once, when the console starts. */
export const followOtherTabs = (): void =>
  channel.addEventListener('message', () => location.reload())

/** For a tab that goes on by itself. */
export const tellOtherTabs = (): void => channel.postMessage('')

export function entered(): void {
  tellOtherTabs()
  location.reload()
}
