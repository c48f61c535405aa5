// The way to the status page, which is served apart from the portal and says what does not work.
import { statusUrl } from '#console/client/api-url.ts'

export const StatusLink = ({ className }: { readonly className?: string }) => (
  <a className={className} href={statusUrl()}>
    Status page
  </a>
)
