# Answers of R's survey on items.csv:   Rscript tests/known_answers/survey.R
# Debian: apt-get install r-base-core r-cran-survey. Each line is a name in test_survey.py and a number.
suppressMessages(library(survey))
folder <- dirname(sub("--file=", "", grep("--file=", commandArgs(), value = TRUE)))
d <- read.csv(file.path(folder, "items.csv"))
d$size <- 60
d$ones <- 1
d$strata_size <- c(30, 20, 10)[d$stratum + 1]
d$documents <- 12
show <- function(name, value) cat(sprintf("%s %.12g\n", name, as.numeric(value)))
both <- function(name, found) {
  show(paste0(name, "_first"), coef(found)[1]); show(paste0(name, "_second"), coef(found)[2])
  show(paste0(name, "_se_first"), SE(found)[1]); show(paste0(name, "_se_second"), SE(found)[2])
  show(paste0(name, "_covariance"), vcov(found)[1, 2])
}
cat("#", R.version.string, "survey", as.character(packageVersion("survey")), "\n")

simple <- svydesign(ids = ~1, fpc = ~size, data = d[d$simple == 1, ])
both("simple", svymean(~first + second, simple))
gap <- svycontrast(svymean(~first + second, simple), c(first = 1, second = -1))
show("simple_gap", coef(gap)); show("simple_gap_se", SE(gap))
total <- svytotal(~first, simple)
show("total_first", coef(total)); show("total_se_first", SE(total))
endless <- svydesign(ids = ~1, probs = ~I(rep(1/3, 20)), data = d[d$simple == 1, ])
both("endless", svymean(~first + second, endless))

stratified <- svydesign(ids = ~1, strata = ~stratum, fpc = ~strata_size, data = d[d$stratified == 1, ])
both("stratified", svymean(~first + second, stratified))

clustered <- svydesign(ids = ~document, fpc = ~documents, data = d[d$clustered == 1, ])
both("clustered", svymean(~first + second, clustered))
everything <- svydesign(ids = ~document, weights = ~ones, data = d)
both("everything", svymean(~first + second, everything))

ratio <- svyratio(~I(weight * first) + I(weight * second), ~weight, simple)
show("ratio_first", coef(ratio)[1]); show("ratio_second", coef(ratio)[2])
show("ratio_se_first", SE(ratio)[1]); show("ratio_se_second", SE(ratio)[2])

domain <- svymean(~first + second, subset(simple, stratum == 0))
both("domain", domain)

unequal <- svydesign(ids = ~1, fpc = ~chance, pps = "brewer", data = d[d$unequal == 1, ])
both("unequal", svymean(~first + second, unequal))
total <- svytotal(~first, unequal)
show("unequal_total_first", coef(total)); show("unequal_total_se_first", SE(total))

# calibrate() weighs residuals by calibrated weights, we by 1/probability: the second number of each is that.
greg <- function(name, design) {
  both(name, svymean(~first + second, calibrate(design, ~x, c(`(Intercept)` = 60, x = sum(d$x)))))
  plain <- update(design, e1 = residuals(svyglm(first ~ x, design), "response"),
                  e2 = residuals(svyglm(second ~ x, design), "response"))
  found <- svymean(~e1 + e2, plain)
  show(paste0(name, "_residual_se_first"), SE(found)[1]); show(paste0(name, "_residual_se_second"), SE(found)[2])
}
greg("greg_simple", simple)
greg("greg_unequal", unequal)
greg("greg_stratified", stratified)
post <- postStratify(simple, ~stratum, data.frame(stratum = 0:2, Freq = c(30, 20, 10)))
both("post", svymean(~first + second, post))

d$phase <- d$both == 1
d$first_size <- 60
p <- d[d$pool == 1, ]
p$second_size <- 36
two <- twophase(id = list(~item, ~item), fpc = list(~first_size, ~second_size), subset = ~phase, data = p)
both("two_phases", svymean(~first + second, two))
