/** Whether whoever connected may be served, asked once a connection. */
import type { Socket } from "node:net"
import { TLSSocket } from "node:tls"
import { clientRefusalOf } from "./tls-failure.ts"

/** Why a connection's client is refused; nothing when it is served. */
export type ClientCheck = (socket: Socket) => string | undefined

/** Serves everyone: what may be read and written is said by the capabilities alone. */
export const everyClient: ClientCheck = () => undefined

/** Serves those whose certificate an authority of this server has signed. */
export const knownClients: ClientCheck = (socket) => {
  if (!(socket instanceof TLSSocket)) return clientRefusalOf("")
  if (socket.authorized) return undefined
  const hasCertificate = socket.getPeerX509Certificate() !== undefined
  return clientRefusalOf(hasCertificate ? String(socket.authorizationError) : "")
}
