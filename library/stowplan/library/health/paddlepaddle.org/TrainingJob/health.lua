-- Health of a TrainingJob from what is reported of it. Argo CD runs this without the string and math libraries.
-- part: job_report
-- part: job_conditions
local phase = status.phase
if phase == nil or phase == "" then
  phase = (holds.Failed and "Failed") or (holds.Complete and "Succeed")
end
local why = holds.Failed
if why == nil and status.reason ~= "" then
  why = status.reason
end
local ended = {
  Succeed = { "Healthy", "The job is done" },
  Failed = { "Degraded", why or "The job failed" },
  failed = { "Degraded", why or "The job failed" }, -- the old operator's word where it could not create the pods
  Timeout = { "Degraded", why or "The job took too long" },
}
local going = {
  Creating = "Pods are being created",
  Running = "The job is running",
  Scaling = "The job gets more or fewer trainers",
}
local health = phase and ended[phase]
if health then
  return { status = health[1], message = health[2] }
end
-- part: job_stopped
return { status = "Progressing", message = kept or (phase and going[phase] or waiting) }
