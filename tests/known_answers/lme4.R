# Answers of R's lme4 on ratings.csv:   Rscript tests/known_answers/lme4.R
# Debian: apt-get install r-base-core r-cran-lme4. Each line is a name in test_lme4.py and a number.
suppressMessages(library(lme4))
folder <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
d <- read.csv(file.path(folder, "ratings.csv"))
for (name in c("item", "model", "rater")) d[[name]] <- factor(d[[name]])
show <- function(name, value) cat(sprintf("%s %.10g\n", name, as.numeric(value)))
cat("#", R.version.string, "lme4", as.character(packageVersion("lme4")), "\n")
control <- lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-10, maxfun = 1e6), calc.derivs = FALSE)
variances <- function(name, fit) {
  found <- as.data.frame(VarCorr(fit))
  for (row in seq_len(nrow(found))) show(paste(name, gsub(":", "_", found$grp[row]), sep = "_"), found$vcov[row])
}

# 1. Severities and tastes at random, items and outputs nested.
full <- lmer(score ~ 0 + model + (1 | rater) + (1 | rater:model) + (1 | item:model) + (1 | item), d, control = control)
variances("full", full)
# 2. The same without tastes.
plain <- lmer(score ~ 0 + model + (1 | rater) + (1 | item:model) + (1 | item), d, control = control)
variances("plain", plain)
# 3. Severities as fixed effects that sum to 0, all variances those of the first fit: estimates and errors.
contrasts(d$rater) <- contr.sum(4)
theta <- getME(full, "theta")
parts <- lFormula(score ~ 0 + model + rater + (1 | rater:model) + (1 | item:model) + (1 | item), d)
at <- theta[paste0(names(parts$reTrms$cnms), ".(Intercept)")]
deviance <- do.call(mkLmerDevfun, parts)
fixed <- mkMerMod(environment(deviance), list(par = at, fval = deviance(at), conv = 0, message = ""),
                  parts$reTrms, fr = parts$fr)
errors <- as.matrix(vcov(fixed)) * sigma(full)^2 / sigma(fixed)^2
turn <- contr.sum(4)
rows <- grep("rater", names(fixef(fixed)))
severity <- turn %*% fixef(fixed)[rows]
covariance <- turn %*% errors[rows, rows] %*% t(turn)
for (rater in 1:4) show(paste0("severity_", rater - 1), severity[rater])
for (rater in 1:4) show(paste0("severity_se_", rater - 1), sqrt(covariance[rater, rater]))
gap <- c(1, 0, 0, -1)
show("severity_gap_se", sqrt(t(gap) %*% covariance %*% gap))
# 4. Errors of the models' means over other items and raters: everything judged by everyone (balanced).
b <- expand.grid(item = 0:11, model = 0:2, rater = 0:3)
b$score <- with(b, ((7 * item + 3 * model) %% 11) + 0.5 * rater * rater + ((5 * item + 2 * model + 3 * rater) %% 4) +
  0.7 * ((model + 2 * rater) %% 3) + 1.5 * (item %% 5))
for (name in c("item", "model", "rater")) b[[name]] <- factor(b[[name]])
crossed <- lmer(score ~ 0 + model + (1 | rater) + (1 | rater:model) + (1 | item:model) + (1 | item), b, control = control)
variances("crossed", crossed)
errors <- as.matrix(vcov(crossed))
show("crossed_mean_se", sqrt(errors[1, 1]))
show("crossed_gap_se", sqrt(errors[1, 1] + errors[2, 2] - 2 * errors[1, 2]))
