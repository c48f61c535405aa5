// The door of websites: the same operations as the S3 door finds by the host, for visitors who have no
// name and read pages, errors too.
import type { Door } from '#http/door.ts'
import { renderPageError } from './render-page-error.ts'

export const createWebsiteDoor = (storage: Door): Door => ({
  ...storage,
  // Whatever a browser sends along: nobody is more than a visitor.
  identify: () => undefined,
  render(error, { requestId, exchange }) {
    const { method, path } = exchange ?? { method: '', path: '' }
    return renderPageError(error, method, { requestId, hostId: requestId, resource: path })
  },
})
