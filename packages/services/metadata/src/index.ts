/** The metadata service: one loop around the chunk map. */
export {
  type MetadataPorts,
  type MetadataService,
  startMetadataService
} from "./metadata-service.ts"
export { defaultServiceSettings, type MetadataOptions, type ServiceSettings } from "./options.ts"
