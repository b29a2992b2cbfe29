-- Health of a SampleSet from what its agents report. Argo CD runs this without the string and math libraries.
local health = { status = "Progressing", message = "Waiting for the agents to report" }
local cached = obj.spec == nil or obj.spec.csi == nil or obj.spec.csi.driver ~= "pvc"
if not cached and obj.spec.noSync == true then
  -- Nothing runs for such a dataset, so nothing reports.
  return { status = "Healthy", message = "The claim holds the samples already" }
end
-- part: dataset_conditions
local messages = {
  Bound = "The volume is bound",
  Mount = "The first cache pod has mounted the volume",
  Syncing = "The samples are being copied",
  PartialReady = "Some cache pods are not ready",
}
if status.phase == "Ready" then
  local message = small or (cached and "All cache pods are ready") or "The claim holds the samples"
  return { status = "Healthy", message = message }
end
-- part: dataset_result
