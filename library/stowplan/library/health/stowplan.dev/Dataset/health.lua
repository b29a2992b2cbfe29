-- Health of a Dataset from what its agents report. Argo CD runs this without the string and math libraries.
local health = { status = "Progressing", message = "Waiting for the agents to report" }
local spec = obj.spec or {}
local cached = spec.cache ~= nil and spec.volume ~= nil and spec.volume.juicefs ~= nil
if not cached and spec.source == nil then
  -- Nothing runs for such a dataset, so nothing reports.
  return { status = "Healthy", message = "The volume holds the data already" }
end
-- part: dataset_conditions
local messages = {
  Bound = "The volume is bound",
  Mount = "The first cache pod has mounted the volume",
  Syncing = "The data is being copied",
  PartialReady = "Some cache pods are not ready",
}
if status.phase == "Ready" then
  local message = small or (cached and "All cache pods are ready") or "The volume holds the data"
  return { status = "Healthy", message = message }
end
-- part: dataset_result
