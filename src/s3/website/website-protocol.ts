// The website protocol: the operations of the S3 protocol, found by the host, for anonymous visitors. Errors are
// pages.
import type { ProtocolHandler } from '#http/protocol-handler.ts'
import { renderPageError } from './render-page-error.ts'

export const createWebsiteProtocol = (storage: ProtocolHandler): ProtocolHandler => ({
  ...storage,
  // Credentials are ignored: every caller is an anonymous visitor.
  identify: () => undefined,
  render(error, { requestId, exchange }) {
    const { method, path } = exchange ?? { method: '', path: '' }
    return renderPageError(error, method, { requestId, hostId: requestId, resource: path })
  },
})
